/** A figure of the last release, as this bench printed it with that release's Worker, and its goal. */
interface Figure {
  before: number | null;
  goal: number | null;
}

const figure = (before: number | null, goal: number | null = null): Figure => ({ before, goal });

/** The bench's output for release 0.3.0. */
export const RELEASE_BEFORE = {
  version: "0.3.0",
  figures: {
    "requests to the Worker": figure(93, 25),
    "calls of objects": figure(186, 35),
    "rows written in objects": figure(277, 50),
    "calls of objects, 20 at once": figure(null, 35),
    "rows written in objects, 20 at once": figure(null, 50),
    "rows written in D1, no variables": figure(61),
    "rows written in D1, 30 variables": figure(181, 15),
    "events of the platform's log": figure(372),
    "bytes of D1, 30 variables": figure(19_483, 1_500),
    "bytes in the object of its log, in the end": figure(69_632, 0),
    "rows in the pool, in the end": figure(302, 0),
    "dollars a month, 1,000 busy agents": figure(5_892, 650),
    "dollars a month, 1,000 busy agents, 30 variables": figure(6_945),
    "dollars a month, 1,000 busy agents, 30 variables, 20 at once": figure(null, 650),
    "dollars a month, 1,000 idle agents": figure(10.15, 2.3),
  },
  rowsWritten: {
    "D1 audit": 148,
    "D1 build": 32,
    "D1 token": 1,
    "log chunk": 64,
    "log closed": 1,
    "log segment": 66,
    "log tables": 2,
    "pool alarm": 50,
    "pool build": 29,
    "pool dirty": 14,
    "pool inputs": 2,
    "pool job": 24,
    "pool letter": 15,
    "pool meta": 1,
    "pool number": 1,
    "pool report": 8,
  } as Record<string, number>,
};
