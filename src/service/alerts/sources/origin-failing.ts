/**
 * An origin fails for a good part of its requests. Once it does, it has to be nearly well again to end. Each has alerts of
 * its own: the subject is the name of one that the policies name, and empty for the one of the edge's environment.
 */
import { FEW_RESPONSES } from '../counted-window.ts';
import type { StateSource } from './source.ts';

const FAILED_MIN = 10;
const BEGINS_AT_SHARE = 0.2;
const ENDS_BELOW_SHARE = 0.05;

export const originFailing: StateSource = {
  kind: 'origin-failing',
  beginsAfterMs: 0,
  endsAfterMs: 0,
  see({ origins, isOn }) {
    if (origins === null) return null;
    return origins.flatMap(({ name, responses, errors, isWhole }) => {
      const share = responses === 0 ? 0 : errors / responses;
      const isBad = isOn(name) ? share >= ENDS_BELOW_SHARE : errors >= FAILED_MIN && share >= BEGINS_AT_SHARE;
      // While nobody can tell, it stays as it is.
      const canTell = isWhole && (responses >= FEW_RESPONSES || !isOn(name));
      if (canTell ? !isBad : !isOn(name)) return [];
      const which = name === '' ? {} : { origin: name };
      return [{ subject: name, facts: { ...which, failed: errors, requests: responses, share } }];
    });
  },
};
