/** Challenges, their solutions and the verification of tokens. */
import { navigation } from '../browse.ts';
import { solveWork } from '../session.ts';
import type { Guide } from './guide.ts';

export async function tourOfVerification({ api, send, stack }: Guide): Promise<void> {
  const { siteKey, secretKey } = await api.post('/sites/create', {
    name: 'Shop',
    settings: { domains: ['127.0.0.1'], captchaType: 'pow', powDifficulty: 1, minimumLevel: 0 },
  });
  const ok = async (call: ReturnType<Guide['send']>): Promise<any> => {
    const { path, status, response } = await call;
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(response)}`);
    return response;
  };
  const token = async (): Promise<string> => {
    const body = { siteKey, currentUrl: `${stack.serviceUrl}/login`, capabilities: { script: true } };
    const { challenge, pow } = await ok(send('post', '/captcha/v1/challenge', body));
    const solution = await solveWork(pow);
    return (await ok(send('post', '/captcha/v1/solution', { challenge, solution }))).token;
  };
  await ok(send('post', '/siteverify', { secret: secretKey, token: await token(), ip: '127.0.0.1' }));
  for (const path of ['/turnstile/v0/siteverify', '/hcaptcha/siteverify', '/recaptcha/api/siteverify']) {
    await ok(send('post', path, { secret: secretKey, response: await token() }));
  }
  const browser = { ...navigation, 'sec-fetch-dest': 'iframe', referer: `${stack.edgeUrl}/` };
  const page = String(await ok(send('get', `/captcha/v1/wait?sitekey=${siteKey}`, undefined, browser)));
  const challenge = /name="challenge" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const form = new URLSearchParams({ challenge }).toString();
  await ok(send('post', '/captcha/v1/wait', form, { ...browser, 'content-type': 'application/x-www-form-urlencoded' }));
}
