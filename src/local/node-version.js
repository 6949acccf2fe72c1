// Plain JavaScript without anything new in it, so that any Node can read it and say what is missing.
// Type stripping, which every script here needs, is on from these on.
const OLDEST = { 22: 18, 23: 6 };

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || minor < (OLDEST[major] || 0)) {
  console.error(
    `This is Node ${process.versions.node}, and Millrace is built with 22.18 or newer: install Node 24, then run this again.`,
  );
  process.exit(1);
}
