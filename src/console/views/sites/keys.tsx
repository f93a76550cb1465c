/** The keys of a site, and code to paste with them filled in. */
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Section } from '../../components/facts.tsx';
import { snippets } from './snippets.ts';
import type { Site } from './sites.tsx';

export function Keys({ site }: { site: Site }) {
  const [isShown, setIsShown] = useState(false);
  // A role that may not change sites gets no secret.
  const secret: string | undefined = site.secretKey;
  return (
    <>
      <Section title="Keys">
        <div class="stack">
          <div>
            <p class="soft">Site key: public, in the pages that show the widget</p>
            <code>{site.siteKey}</code> <CopyButton text={site.siteKey} />
          </div>
          <div>
            <p class="soft">Secret key: for your backend only</p>
            {secret === undefined ? (
              <p>Your role does not show secrets.</p>
            ) : (
              <>
                <code>{isShown ? secret : '•'.repeat(24)}</code>{' '}
                <Button isSmall onClick={() => setIsShown(!isShown)}>
                  {isShown ? 'Hide' : 'Show'}
                </Button>{' '}
                <CopyButton text={secret} />
              </>
            )}
          </div>
        </div>
      </Section>
      {snippets(site.siteKey, location.origin).map(({ title, text }) => (
        <Section key={title} title={title} actions={<CopyButton text={text} />}>
          <pre class="snippet" tabIndex={0} role="region" aria-label={title}>
            {text}
          </pre>
        </Section>
      ))}
    </>
  );
}
