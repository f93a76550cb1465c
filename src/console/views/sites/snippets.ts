/** Code with a site's own key and address. The programs are those of the documentation, which the tests run. */
import { verifyPrograms } from '../../settings/settings-schemas.generated.ts';

const languages = { mjs: 'Node.js', php: 'PHP', py: 'Python', go: 'Go', sh: 'Shell' } as const;

export function snippets(siteKey: string, service: string): { title: string; text: string }[] {
  return [
    {
      title: 'Widget in a form',
      text: `<script src="${service}/widget.js" defer></script>
<form method="post" action="/login">
  <div class="gatehouse-captcha" data-sitekey="${siteKey}"></div>
  <button>Log in</button>
</form>`,
    },
    {
      title: 'Settings of your backend',
      text: `CAPTCHA_URL=${service}\nCAPTCHA_SECRET=…   # the secret key above`,
    },
    ...(Object.keys(languages) as (keyof typeof languages)[]).map((name) => ({
      title: `Backend: ${languages[name]}`,
      text: verifyPrograms[name] ?? '',
    })),
  ];
}
