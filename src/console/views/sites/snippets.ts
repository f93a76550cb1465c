/** Code with a site's own key and address. The programs are those of the documentation, which the tests run. */
import { verifyPrograms } from '../../settings/settings-schemas.generated.ts';

const languages = { mjs: 'Node.js', php: 'PHP', py: 'Python', go: 'Go', sh: 'Shell' } as const;

/** Programs that verify a token. */
export const programs = (Object.keys(languages) as (keyof typeof languages)[]).map((name) => ({
  language: languages[name] as string,
  text: verifyPrograms[name] ?? '',
}));

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
