/**
 * The browser scripts, first-party. This Worker carries what a challenge needs during an outage; the rest comes from
 * the service and is checked against the hash this release was built with. A missing script returns an uncached 404:
 * the page works without it, and a later visit gets it.
 */
import { protectPrefix } from '../../contract/edge/headers.ts';
import { ok } from '../../result.ts';
import { assetHashes } from '../../widget/bundle.generated.ts';
import { error } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import type { Isolate } from '../isolate/isolate.ts';
import { type Answered, answerWith } from '../step/step.ts';

export async function serveScript(context: RequestContext, { files }: Pick<Isolate, 'files'>): Promise<Answered> {
  const { target } = context.facts;
  const name = target.path.slice(protectPrefix.length).replace(/\/$/, '');
  const embedded = files.embedded(name)?.body;
  const file = embedded === undefined ? await files.read(name) : ok(embedded);
  const hash = assetHashes[name];
  if (file.ok && hash !== undefined) {
    return answerWith(context, {
      kind: 'script',
      body: file.value,
      hash,
      isNamedByHash: target.query === `?v=${hash}`,
    });
  }
  const isAway = !file.ok && file.error.kind === 'unreachable';
  const refusal = isAway
    ? error('API.UNAVAILABLE', 'The challenge service does not respond.')
    : error('API.NOT_FOUND', 'There is nothing at this address.');
  return answerWith(context, refusal);
}
