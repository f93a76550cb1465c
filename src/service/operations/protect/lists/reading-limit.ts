/** A bound on readings of lists that a caller asks for: each is a fetch from a third party and much work. */
import { RateLimit } from '../../../http/rate-limit.ts';
import type { OperationContext } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';

/** Per account, in one isolate. */
const READINGS_PER_MINUTE = 60;
const readings = new RateLimit(READINGS_PER_MINUTE);

/** @throws OperationError 429. */
export function checkReadings({ account, nowMs }: Pick<OperationContext<unknown>, 'account' | 'nowMs'>): void {
  if (readings.take(account.id, nowMs) === null) return;
  throw new OperationError('API.RATE_LIMITED', `At most ${READINGS_PER_MINUTE} readings a minute. Try again later`);
}
