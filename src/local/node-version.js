// Plain, old JavaScript, so that every Node can run it. All other scripts need type stripping, which is on by default
// from these versions on.
const OLDEST = { 22: 18, 23: 6 };

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || minor < (OLDEST[major] || 0)) {
  console.error(
    `Millrace needs Node 22.18 or newer, and this is Node ${process.versions.node}: install Node 24, then run this again.`,
  );
  process.exit(1);
}
