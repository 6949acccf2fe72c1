/** A build about whose end a browser may notify a person. */
export interface FollowedBuild {
  id: string;
  hasEnded: boolean;
  title: string;
  note: string;
}
