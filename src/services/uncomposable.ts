/** The environment cannot be composed, now or later: the build fails with this message. */
export class Uncomposable extends Error {
  override name = "Uncomposable";
}
