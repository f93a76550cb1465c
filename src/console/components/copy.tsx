/** A value to copy, and the shell line of a view. */
import { useState } from 'preact/hooks';
import { curlLine, type Sent } from '../api/send.ts';
import { Button } from './button.tsx';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      // Without the permission, the text can still be selected.
      () => setState('refused'),
    );
    setTimeout(() => setState('ready'), 2000);
  };
  const words = { ready: label, copied: 'Copied', refused: 'Select it and copy' };
  return (
    <Button isSmall onClick={copy}>
      {words[state]}
    </Button>
  );
}

/** Every view shows which calls made it. */
export function CurlLines({ calls }: { calls: readonly Sent[] }) {
  return (
    <details class="curl">
      <summary>Show as curl</summary>
      {calls.map((sent) => {
        const line = curlLine(sent);
        return (
          <div key={line} class="curl-line">
            <code>{line}</code>
            <CopyButton text={line} />
          </div>
        );
      })}
      <p class="hint">
        <code>KEY</code> is an API key of the account. The <a href="/docs">API reference</a> describes every field.
      </p>
    </details>
  );
}
