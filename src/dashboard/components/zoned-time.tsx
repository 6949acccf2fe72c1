/** A time as a clock in the zone shows it: `Mon 23 Nov 2026, 02:00 CET`. Its title has it in UTC. */
export const ZonedTime = ({ at, timeZone }: { at: string; timeZone: string }) => {
  const format = new Intl.DateTimeFormat("en-GB", {
    ...{ weekday: "short", day: "numeric", month: "short", year: "numeric" },
    ...{ hour: "2-digit", minute: "2-digit", timeZone, timeZoneName: "short" },
  });
  return (
    <time datetime={at} title={at.replace("T", " ").replace(/\.\d+Z$/, " UTC")}>
      {format.format(new Date(at))}
    </time>
  );
};
