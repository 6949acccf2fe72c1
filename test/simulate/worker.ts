import { parentPort } from "node:worker_threads";
import { runTask, type Task } from "./run.ts";
import { ofMutant } from "./wrong-machine.ts";

parentPort?.on("message", async (task: Task) => {
  const simulation = await ofMutant({ runTask }, "./run.ts", task.mutant);
  parentPort?.postMessage(simulation.runTask(task));
});
