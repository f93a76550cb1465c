/** What a refusal tells a bot: how it could prove who it is, and what it would have to pay. */
import { acceptSignature } from '../../bots/signatures/accept-signature.ts';
import { isProvedBot } from '../decide/verdict.ts';
import type { RequestContext } from '../decide/context.ts';

export function botHeaders({ verdict, config }: RequestContext): [name: string, value: string][] {
  const { bot, decision, isCharged } = verdict;
  if (bot === null || decision === 'allow') return [];
  const charge = isCharged ? config?.policy.botPolicy.charge : null;
  return [
    ...(isProvedBot(bot) ? [] : [['accept-signature', acceptSignature()] satisfies [string, string]]),
    ...(charge
      ? ([
          ['crawler-price', charge.price],
          ['link', `<${charge.licenseUrl}>; rel="license"`],
        ] satisfies [string, string][])
      : []),
  ];
}
