/** A build that a browser may notify about when it ends. */
export interface FollowedBuild {
  id: string;
  hasEnded: boolean;
  title: string;
  note: string;
}
