/** An expression of Cloudflare where a condition is typed: the importer reads it, and says what a policy does otherwise. */
import { useState } from 'preact/hooks';
import { looksLikeCloudflare } from '../../../policies/import/cloudflare/recognise.ts';
import { parseExpression } from '../../../policies/text/parse.ts';
import { call, useAction } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNotice } from '../../components/page.tsx';

export interface CloudflareOfferProps {
  siteKey: string;
  /** What is typed. */
  text: string;
  onTake: (condition: string) => void;
}

interface Read {
  source: string;
  rule: ResponseOf<'/protect/policies/import'>['rules'][number];
}

export function CloudflareOffer({ siteKey, text, onTake }: CloudflareOfferProps) {
  const { isBusy, error, run } = useAction();
  const [last, setLast] = useState<Read | null>(null);
  const read = async (): Promise<void> => {
    // The importer takes one expression a line.
    const content = text.replace(/\s*[\r\n]+\s*/g, ' ');
    const report = await run(call('/protect/policies/import', { siteKey, format: 'cloudflare', content }));
    const rule = report?.rules[0];
    if (rule === undefined) return;
    setLast({ source: text, rule });
    if (rule.policy !== null) onTake(rule.policy.text);
  };
  if (last !== null && text === last.rule.policy?.text) return <Taken {...last} onBack={() => onTake(last.source)} />;
  if (!looksLikeCloudflare(text) || parseExpression(text).ok) return null;
  return (
    <div class="notice" role="status">
      <p>This is an expression of Cloudflare. A policy has a language of its own.</p>
      {last !== null && text === last.source && last.rule.reason !== null && (
        <p>A policy cannot say it: {last.rule.reason}.</p>
      )}
      <RefusalNotice error={error} />
      <Button isSmall isBusy={isBusy} onClick={() => void read()}>
        Read it as a condition
      </Button>
    </div>
  );
}

function Taken({ rule: { differences }, onBack }: Read & { onBack: () => void }) {
  return (
    <div class="notice" role="status">
      <p>Read from the expression of Cloudflare{differences.length === 0 ? '.' : ', with these differences:'}</p>
      {differences.length > 0 && (
        <ul>
          {differences.map((difference) => (
            <li key={difference}>{difference}</li>
          ))}
        </ul>
      )}
      <Button isSmall onClick={onBack}>
        Back to what was pasted
      </Button>
    </div>
  );
}
