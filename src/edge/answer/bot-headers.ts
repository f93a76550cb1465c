/** What a refusal tells a bot: how it could prove who it is, and what it would have to pay. */
import { acceptSignature } from '../../bots/signatures/accept-signature.ts';
import { isProvedBot } from '../decide/policy-input.ts';
import type { RequestContext } from '../decide/context.ts';

export function botHeaders({ facts, verdict, config }: RequestContext): [name: string, value: string][] {
  const { bot, decision, isCharged } = verdict;
  if (decision === 'allow') return [];
  const { headers } = facts.request;
  // Who signs, or names an agent, is asked for a signature too, whatever is wrong with the one that they sent.
  const isAsked =
    !isProvedBot(bot) && (bot !== null || headers.has('signature-agent') || headers.has('signature-input'));
  const charge = isCharged ? config?.policy.botPolicy.charge : null;
  const nonce = config?.policy.botPolicy.signatures.nonce === 'once' ? crypto.randomUUID() : null;
  return [
    ...(isAsked ? [['accept-signature', acceptSignature(nonce)] satisfies [string, string]] : []),
    ...(charge
      ? ([
          ['crawler-price', charge.price],
          ['link', `<${charge.licenseUrl}>; rel="license"`],
        ] satisfies [string, string][])
      : []),
  ];
}
