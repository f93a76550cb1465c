/** The origin fails for a good part of its requests. Once it does, it has to be nearly well again to end. */
import type { StateSource } from './source.ts';

const FAILED_MIN = 10;
const BEGINS_AT_SHARE = 0.2;
const ENDS_BELOW_SHARE = 0.05;

export const originFailing: StateSource = {
  kind: 'origin-failing',
  beginsAfterMs: 0,
  endsAfterMs: 0,
  see({ origin, isOn }) {
    if (origin === null) return null;
    const { responses, errors } = origin;
    const share = responses === 0 ? 0 : errors / responses;
    const isSeen = isOn('') ? share >= ENDS_BELOW_SHARE : errors >= FAILED_MIN && share >= BEGINS_AT_SHARE;
    return isSeen ? [{ subject: '', facts: { failed: errors, requests: responses, share } }] : [];
  },
};
