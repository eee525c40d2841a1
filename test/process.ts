/** Commands as a person runs them: child processes, each leading a process group of its own, so that all of it can be seen and ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

export interface Command {
  /** Standard output and error so far, in the order in which they came. */
  readonly output: string;
  /** @returns the match, once the output has it. Rejects with the output when the command ends before. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code when the command has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Resolves when no process of the group is left. Rejects after 5 s. */
  groupGone(): Promise<void>;
  /** Ends the group at once. */
  kill(): void;
}

/** Runs a script of the checkout with this Node, in the checkout's root. */
export function runCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
  return run(process.execPath, args, env);
}

/** Runs a line of sh in the checkout's root. `$0` is this Node. */
export function runShell(line: string, env: Readonly<Record<string, string>> = {}): Command {
  return run("sh", ["-c", line, process.execPath], env);
}

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Command {
  return new Group(spawn(program, args, { cwd: ROOT, detached: true, env: { ...process.env, ...env } }));
}

class Group implements Command {
  readonly ended: Promise<number | null>;
  output = "";
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.ended = once(child, "close").then(([code]) => code as number | null);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
        child.emit("output");
      });
    }
  }

  waitFor(pattern: RegExp): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = this.output.match(pattern);
        if (match) resolve(match);
      };
      look();
      this.#child.on("output", look);
      this.ended.then((code) => reject(new Error(`ended with ${code} before ${pattern}:\n${this.output}`)));
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async groupGone(): Promise<void> {
    for (let waited = 0; waited < 5000; waited += 50) {
      if (!this.#send(0)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`processes of group ${this.#child.pid} are left`);
  }

  kill(): void {
    this.#send("SIGKILL");
  }

  /** @returns false when nobody is there. */
  #send(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-(this.#child.pid as number), signal);
    } catch {
      return false;
    }
  }
}
