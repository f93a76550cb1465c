/** What a refusal tells a bot: how it could prove who it is, and what it would have to pay. */
import { isProvedBot } from '../decide/verdict.ts';
import type { RequestContext } from '../decide/context.ts';

/** RFC 9421 section 5.1. Some agents sign only when they are asked. */
const SIGN_SO = 'sig1=("@authority" "signature-agent";key="sig1");created;expires;keyid;tag="web-bot-auth"';

export function botHeaders({ verdict, config }: RequestContext): [name: string, value: string][] {
  const { bot, decision, isCharged } = verdict;
  if (bot === null || decision === 'allow') return [];
  const charge = isCharged ? config?.policy.botPolicy.charge : null;
  return [
    ...(isProvedBot(bot) ? [] : [['accept-signature', SIGN_SO] satisfies [string, string]]),
    ...(charge
      ? ([
          ['crawler-price', charge.price],
          ['link', `<${charge.licenseUrl}>; rel="license"`],
        ] satisfies [string, string][])
      : []),
  ];
}
