/** The agent as a service of the machine. */
export interface AgentService {
  /** Name of the service from --service. */
  name: string | null;
  /** Name of the agent, unless it is in its user's default state folder. */
  agent: string | null;
  command: string[];
  state: string;
  user: string | null;
  /** Variables of the shell that ran `install`. */
  variables: Record<string, string>;
}

/** A file for the service manager. */
export interface ServiceFile {
  path: string;
  text: string;
  /** Text that only files of this agent contain: its --state argument. */
  stateArgument: string;
  /** Commands to run once the file is written. */
  nextCommands: string[];
}
