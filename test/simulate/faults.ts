/** The faults that a history injects, each with what it does. */
export const FAULTS = {
  "request lost": "the call never reaches the pool",
  "answer lost": "the pool decides, the caller gets no answer",
  "call doubled": "the same call arrives twice",
  "message late": "a copy of the call arrives much later",
  "hint lost": "the socket loses the message that there is work",
  "agent crash": "the agent's process dies and loses its job",
  "agent freeze": "the agent stops, and may continue when its lease is over",
  zombie: "a frozen agent continues with its old lease",
  "object evicted": "the Durable Object loses its memory, in half of the cases also its sockets",
  restore: "the pool's storage, D1 or both return to an earlier point",
  "D1 away": "D1 cannot be reached",
  "D1 outcome unknown": "a write to D1 succeeds, the pool gets an error",
  "D1 write late": "D1 executes a write again, much later",
  "Worker died": "the Worker stops between two steps of a hand-out",
  "alarm late": "time passes and the alarm does not fire",
  "alarm dropped": "the alarm is lost",
  "alarm doubled": "the alarm fires twice",
  "clock jump": "the clock jumps, forward or back",
  "hostile call": "somebody calls with another's build, an old fence or invented values",
  cancel: "a person cancels a build",
  removal: "a person removes an agent",
  "token revoked": "a registration token is revoked with all its agents",
  "months of silence": "50 or 95 days pass without a call",
  "secret unreadable": "a secret of the job cannot be decrypted",
} as const;

export type Fault = keyof typeof FAULTS;
