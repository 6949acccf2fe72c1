/** The agent as the machine's service manager is told of it. */
export interface AgentService {
  /** The service's name, where a person chose one. */
  name: string | null;
  /** The agent's name, where it is not the one agent of its user. */
  agent: string | null;
  command: string[];
  state: string;
  user: string | null;
  /** Where programs are looked for: that of the shell it was installed from. */
  path: string;
}

/** A file for the service manager, where it belongs, and what to run after it is there. */
export interface ServiceFile {
  path: string;
  text: string;
  /** Stands in each file for this agent's state folder, and in no other. */
  stateArgument: string;
  nextCommands: string[];
}
