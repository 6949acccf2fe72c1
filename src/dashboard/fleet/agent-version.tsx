import { VERSION } from "../../protocol/version.ts";
import { isOlder } from "../agent-list.ts";

export const HOW_TO_UPDATE = `The service is ${VERSION}. Drain the agent, install its program anew as "Add agent" shows, and start it again.`;

interface AgentVersionProps {
  version: string | null;
  /** In a row of many one word says it. */
  isShort?: boolean;
}

/** The version of an agent's program, and whether it is behind. */
export const AgentVersion = ({ version, isShort = false }: AgentVersionProps) => (
  <>
    {version ?? "not told"}
    {isOlder(version) && (
      <>
        {", "}
        <span class="older" title={HOW_TO_UPDATE}>
          {isShort ? "older" : "older than the service"}
        </span>
      </>
    )}
  </>
);
