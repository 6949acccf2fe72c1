import { CommanderError } from "commander";
import { EXIT, ExitError } from "./cli/exit-codes.ts";
import { mustNotRestart } from "./cli/launchd.ts";
import { logger } from "./cli/logger.ts";
import { program } from "./cli/program.ts";

const end = (code: number): void => {
  if (mustNotRestart(code))
    logger.warn(
      `exits with 0 instead of ${code} so that launchd does not restart it; restart it with launchctl kickstart`,
    );
  process.exitCode = mustNotRestart(code) ? EXIT.done : code;
};

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    end(error.exitCode === 0 ? EXIT.done : EXIT.usage);
  } else if (error instanceof ExitError) {
    if (error.exitCode !== EXIT.done) logger.error(error.message);
    end(error.exitCode);
  } else {
    logger.error(error instanceof Error ? error.message : "unknown error");
    end(EXIT.failed);
  }
}
