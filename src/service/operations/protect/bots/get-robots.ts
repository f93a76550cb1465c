/**
 * `POST /protect/robots`: the origin's robots.txt as edges last read it, the file that the gate makes of it with the
 * policy as it is now, or with one to try, and what that says to each bot. Without `host` it is about the one that was
 * asked for last.
 */
import { behaviourAction, compileBotRules } from '../../../../bots/bot-rules.ts';
import { isBan, isOpen, ruleLine } from '../../../../bots/robots/both-allow.ts';
import { readRobotsRules } from '../../../../bots/robots/robots-answer.ts';
import { robotsRequest, robotsResponse } from '../../../../contract/management/bot-traffic.ts';
import { botBehaviours } from '../../../../contract/vocabulary.ts';
import { robotsFile, robotsHosts } from '../../../../store/d1/robots-files.ts';
import { mergedFor, namedBots } from '../../../bots/served-robots.ts';
import { protectOperation } from '../../define-operation.ts';
import { instanceOfCall } from '../chosen-instance.ts';

/** Of the rules for one bot. The file has all of them. */
const RULES_SHOWN_MAX = 20;

export const getRobots = protectOperation({
  name: 'get-robots',
  path: '/protect/robots',
  access: 'read',
  summary: 'What robots.txt says, and what the origin says in it',
  body: robotsRequest,
  response: robotsResponse,
  async handler(context) {
    const { store, body } = context;
    const inForce = await instanceOfCall(context, body.siteKey);
    const instance = { ...inForce, botPolicy: body.botPolicy ?? inForce.botPolicy };
    const { botPolicy } = instance;
    const [hosts, bots] = await Promise.all([robotsHosts(store, instance.id), namedBots(store, instance.accountId)]);
    const host = body.host?.toLowerCase() ?? hosts[0]?.host ?? null;
    const origin = host === null ? null : await robotsFile(store, instance.id, host);
    const served = mergedFor(instance, bots, origin?.text ?? '');
    const rulesFor = readRobotsRules(served);
    return {
      isServed: botPolicy.robots.serve && !instance.monitor,
      host,
      origin,
      served,
      hosts,
      behaviours: botBehaviours.map((behaviour) => ({
        behaviour,
        byPreset: behaviourAction({ ...botPolicy, behaviours: {} }, behaviour),
        action: behaviourAction(botPolicy, behaviour),
      })),
      bots: bots.map(({ id, behaviours, tokens }) => {
        const rules = rulesFor(tokens);
        return {
          id,
          behaviours,
          tokens,
          action: compileBotRules(botPolicy, { id, behaviours }).elsewhere,
          told: isOpen(rules) ? 'all' : isBan(rules) ? 'none' : 'some',
          rules: rules.slice(0, RULES_SHOWN_MAX).map(ruleLine),
        };
      }),
    };
  },
});
