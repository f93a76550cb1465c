/**
 * Takes an import back that the service refuses in the middle, for example where its rules would exceed a limit: a file
 * is sent in pieces, and a part of a block list is worse than none. Versions of other writers are never undone.
 */
import { call, CallError, type Target } from './management-call.ts';

const RULES = '/protect/access-rules';

export class ImportUndo {
  readonly #target: Target;
  /** The version before the first change, and the versions that this import has made. */
  #before = 0;
  #made = 0;
  #lastLine = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  /** A piece up to `lastLine` was accepted. `version` is the version of the rules after it. */
  accepted(lastLine: number, version: number, isChange: boolean): void {
    this.#lastLine = lastLine;
    if (!isChange) return;
    if (this.#made === 0) this.#before = version - 1;
    this.#made += 1;
  }

  /** The error to show instead of `error`, after what can be undone is undone. */
  async after(error: unknown): Promise<unknown> {
    if (this.#made === 0 || !(error instanceof CallError)) return error;
    if (error.isRefusal && (await this.#isTakenBack())) {
      return new CallError(`Nothing was imported; lines 1 to ${this.#lastLine} were taken back. ${error.message}`);
    }
    return new CallError(
      `Lines 1 to ${this.#lastLine} are imported, the others are not. Import the file again to continue, or see ` +
        `"rules history" and undo it with "rules rollback ${this.#before}". ${error.message}`,
    );
  }

  async #isTakenBack(): Promise<boolean> {
    try {
      const { version } = (await call(this.#target, `${RULES}/history`, { limit: 1 })) as { version: number };
      // Someone else wrote meanwhile: their changes would be undone too.
      if (version !== this.#before + this.#made) return false;
      await call(this.#target, `${RULES}/rollback`, { version: this.#before });
      return true;
    } catch {
      return false;
    }
  }
}
