/** The keys of a site, and code to paste with them filled in. */
import { useState } from 'preact/hooks';
import { Button, CopyButton } from '../../components/button.tsx';
import { Section } from '../../components/page.tsx';
import type { ListedSite } from './sites.tsx';
import { verifyPrograms } from '../../settings/verify-programs.generated.ts';

export function Keys({ site }: { site: ListedSite }) {
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

const languages = { mjs: 'Node.js', php: 'PHP', py: 'Python', go: 'Go', sh: 'Shell' } as const;

/** Programs that verify a token. */
export const programs = (Object.keys(languages) as (keyof typeof languages)[]).map((name) => ({
  language: languages[name] as string,
  text: verifyPrograms[name] ?? '',
}));

/** Code with a site's own key and address. The programs are those of the documentation, which the tests run. */
export function widgetSnippet(siteKey: string, service: string): string {
  return `<script src="${service}/widget.js" defer></script>
<form method="post" action="/login">
  <div class="gatehouse-captcha" data-sitekey="${siteKey}"></div>
  <button>Log in</button>
</form>`;
}

export function snippets(siteKey: string, service: string): { title: string; text: string }[] {
  return [
    { title: 'Widget in a form', text: widgetSnippet(siteKey, service) },
    {
      title: 'Settings of your backend',
      text: `CAPTCHA_URL=${service}\nCAPTCHA_SECRET=…   # the secret key above`,
    },
    ...programs.map(({ language, text }) => ({ title: `Backend: ${language}`, text })),
  ];
}
