/** A build that a browser may tell of when it ends. */
export interface FollowedBuild {
  id: string;
  hasEnded: boolean;
  title: string;
  note: string;
}
