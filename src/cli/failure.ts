/** Why a command fails, and what a person reads then. */
import { printable } from './print/printable.ts';

/** One line. A defect has a stack trace for those who ask for it. */
export function failure(error: unknown, env: Readonly<Record<string, string | undefined>>): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError) return error.message.split('\n').map(printable).join('\n');
  if ((env['GATEHOUSE_DEBUG'] ?? '') !== '') return error.stack ?? error.message;
  // Errors of the system, such as a full disk, name the operation and the path.
  if ('code' in error) return error.message;
  return `Unexpected failure: ${error.message} Set GATEHOUSE_DEBUG=1 to see where it happened.`;
}

/** A mistake or a state that the operator can correct. The message says it in one sentence, so no stack trace is shown. */
export class OperatorError extends Error {}
