/** A rectangle of cells; all four in cells. */
interface CellRect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The cells from one place to before another, of a grid that is filled row by row: three rectangles at most. */
export const cellRects = (from: number, to: number, columns: number): CellRect[] => {
  const rects: CellRect[] = [];
  const add = (start: number, end: number, rows: number) => {
    if (end > start && rows > 0)
      rects.push({ x: start % columns, y: Math.floor(start / columns), width: (end - start) / rows, height: rows });
  };
  const firstEnd = Math.min(to, Math.ceil(from / columns) * columns);
  add(from, firstEnd, 1);
  const wholeEnd = Math.max(firstEnd, Math.floor(to / columns) * columns);
  add(firstEnd, wholeEnd, (wholeEnd - firstEnd) / columns);
  add(wholeEnd, to, 1);
  return rects;
};
