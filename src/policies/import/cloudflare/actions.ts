/** What Cloudflare's actions are in a policy. */
import { isJsonObject } from '../../../bytes/json.ts';
import { type Policy, type PolicyAction, redirectLocation } from '../../../contract/management/policy-set/policy.ts';
import { NotExpressible } from '../report.ts';
import type { Differences } from '../text-subject.ts';

export interface ReadAction {
  then: PolicyAction;
  /** Of a rule that only writes to the log. */
  mode?: Policy['mode'];
}

const allowDifference =
  'Cloudflare skips chosen products; here the search for a policy ends, and access rules, bots and risk still decide';

export function readAction(action: string, parameters: unknown, differences: Differences): ReadAction {
  switch (action) {
    case 'block':
      return { then: { action: 'block' } };
    case 'managed_challenge':
    case 'js_challenge':
      differences.add("the challenge is Gatehouse's");
      return { then: { action: 'challenge' } };
    case 'challenge':
      differences.add("the challenge is Gatehouse's, by image or puzzle");
      return { then: { action: 'challenge', level: 2 } };
    case 'skip':
    case 'allow':
    case 'bypass':
      differences.add(allowDifference);
      return { then: { action: 'allow' } };
    case 'log':
      differences.add('the policy is a blocking one in monitor mode, which only records');
      return { then: { action: 'block' }, mode: 'monitor' };
    case 'redirect':
      return { then: readRedirect(parameters, differences) };
    default:
      throw new NotExpressible(`a policy has no action like ${action.slice(0, 60)}`);
  }
}

function readRedirect(parameters: unknown, differences: Differences): PolicyAction {
  const from = isJsonObject(parameters) ? parameters['from_value'] : undefined;
  const target = isJsonObject(from) ? from['target_url'] : undefined;
  const location = isJsonObject(target) ? target['value'] : undefined;
  if (!isJsonObject(from) || typeof location !== 'string') {
    throw new NotExpressible('a policy redirects to one fixed address only');
  }
  if (!redirectLocation.safeParse(location).success) {
    throw new NotExpressible('a policy redirects to a path of the same site or to an https address only');
  }
  if (from['preserve_query_string'] === true) differences.add('the query is not added to the address');
  const status = from['status_code'];
  if (status === 302 || status === 303 || status === 307 || status === 308) {
    return { action: 'redirect', location, status };
  }
  if (status !== undefined) differences.add('the status is 302: browsers keep a permanent redirect for good');
  return { action: 'redirect', location, status: 302 };
}
