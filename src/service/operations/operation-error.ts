/**
 * What an operation throws to refuse a call, and the refusal that each of these errors stands for. Any other error
 * that an operation throws is a fault of the service.
 */
import type { ErrorDetail, ErrorKey } from '../../contract/errors.ts';
import { AccountLimitError } from '../../store/d1/account-limits.ts';
import { UnreadableSegmentError } from '../../store/event-log/parquet/byte-cursor.ts';
import type { OperationRefusal } from '../http/service-error.ts';

/** A refusal with the key and the message that the operation chose. */
export class OperationError extends Error {
  readonly key: ErrorKey;
  readonly details: readonly ErrorDetail[] | undefined;

  constructor(key: ErrorKey, message: string, details?: readonly ErrorDetail[]) {
    super(message);
    this.name = 'OperationError';
    this.key = key;
    this.details = details;
  }
}

export class NoActiveInstanceError extends Error {
  constructor() {
    super('The account has no active Protect instance for this call');
    this.name = 'NoActiveInstanceError';
  }
}

/** `null`: nobody expected this error. */
export function operationRefusal(thrown: unknown): OperationRefusal | null {
  if (thrown instanceof OperationError) {
    return { kind: 'operation', key: thrown.key, message: thrown.message, details: thrown.details };
  }
  if (thrown instanceof AccountLimitError) {
    return { kind: 'operation', key: 'API.TOO_MANY_ITEMS', message: thrown.message };
  }
  if (thrown instanceof UnreadableSegmentError) {
    console.error(JSON.stringify({ event: 'segment-unreadable', message: thrown.message }));
    const message = `${thrown.message}. Put the file back from a copy, or leave it out with: gatehouse log rebuild`;
    return { kind: 'operation', key: 'API.UNKNOWN', message };
  }
  return thrown instanceof NoActiveInstanceError ? { kind: 'no-active-instance' } : null;
}
