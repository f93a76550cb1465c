/** What a pasted text is, and the view that shows it. Whatever has no other form is taken for a user agent. */
interface FoundView {
  path: string;
  params: Readonly<Record<string, string>>;
}

const REFERENCE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
/** Only the outline: the service reads the address and names what is wrong with it. */
const IPV6 = /^(?=.*:.*:)[0-9a-f:.]{2,45}$/i;
const PREFIX = /^([0-9a-f:.]{2,45})\/\d{1,3}$/i;
const AS_NUMBER = /^AS ?(\d{1,10})$/i;
const RULE = /^(ip|ipMask|asn|countryCode|ja4Hash|userAgent):./;
/** The jti of a captcha, which its token has too. */
const CAPTCHA = /^[0-9a-f]{32}$/;
const SESSION = /^[\w-]{16,256}$/;

/** `null`: a user agent, or a part of one. */
export function viewOf(pasted: string): FoundView | null {
  const text = cleaned(pasted);
  if (REFERENCE.test(text)) return { path: `/console/verdicts/${text.toLowerCase()}`, params: {} };
  if (isAddress(text)) return { path: '/console/verdicts', params: { ip: text, range: '30d' } };
  if (isAddress(PREFIX.exec(text)?.[1] ?? ''))
    return { path: '/console/rules', params: { type: 'ipMask', value: text } };
  const asn = AS_NUMBER.exec(text)?.[1];
  if (asn !== undefined) return { path: '/console/verdicts', params: { asn, range: '30d' } };
  if (RULE.test(text)) return { path: '/console/verdicts', params: { rule: text, range: '30d' } };
  if (CAPTCHA.test(text)) return { path: '/console/captchas/search', params: { freeText: text, range: '30d' } };
  if (SESSION.test(text)) return { path: `/console/sessions/${text}`, params: {} };
  return null;
}

/** Without what a mail or a chat puts around it. */
export function cleaned(pasted: string): string {
  return pasted.trim().replaceAll(/^["'`]|["'`]$/g, '');
}

const isAddress = (text: string): boolean => IPV4.test(text) || IPV6.test(text);
