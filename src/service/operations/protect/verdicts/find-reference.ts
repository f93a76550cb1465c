/**
 * `POST /protect/verdicts/find`: the verdicts that a reference can be of, in any instance of the account. A short form is
 * looked for in the 67 seconds that it names, six instances at a time, and no further once there are more verdicts than
 * an answer holds. A search opens at most 200 row groups of 1,000 verdicts for each instance: 60,000 for an account with
 * 300 instances that all log 200,000 verdicts in that time. `siteKey` narrows it.
 */
import {
  FOUND_VERDICTS_MAX,
  referenceSearchRequest,
  referenceSearchResponse,
} from '../../../../contract/management/reference-search.ts';
import { operation } from '../../define-operation.ts';
import { explainedVerdict } from './explained-row.ts';
import { findVerdicts } from './find-verdict.ts';

export const findReference = operation({
  name: 'find-reference',
  method: 'POST',
  path: '/protect/verdicts/find',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Find the verdicts of a reference, whole or short',
  body: referenceSearchRequest,
  response: referenceSearchResponse,
  async handler(context) {
    const { reference, siteKey } = context.body;
    const { records, isComplete } = await findVerdicts(context, reference, siteKey);
    const newest = records.toSorted((one, other) => other.timestamp - one.timestamp);
    return {
      verdicts: newest.slice(0, FOUND_VERDICTS_MAX).map(explainedVerdict),
      isComplete: isComplete && newest.length <= FOUND_VERDICTS_MAX,
    };
  },
});
