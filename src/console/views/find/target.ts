/** What a pasted text is, and the view that shows it. */
export interface Target {
  path: string;
  params: Readonly<Record<string, string>>;
}

const REFERENCE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
/** Only the outline: the service reads the address and names what is wrong with it. */
const IPV6 = /^(?=.*:.*:)[0-9a-f:.]{2,45}$/i;
const AS_NUMBER = /^AS(\d{1,10})$/i;
const SESSION = /^[\w-]{16,256}$/;

export function targetOf(pasted: string): Target | null {
  const text = pasted.trim().replaceAll(/^["'`]|["'`]$/g, '');
  if (REFERENCE.test(text)) return { path: `/console/verdicts/${text.toLowerCase()}`, params: {} };
  if (IPV4.test(text) || IPV6.test(text)) return { path: '/console/verdicts', params: { ip: text, range: '30d' } };
  const asn = AS_NUMBER.exec(text)?.[1];
  if (asn !== undefined) return { path: '/console/verdicts', params: { asn, range: '30d' } };
  if (SESSION.test(text)) return { path: '/console/verdicts', params: { jti: text, range: '30d' } };
  return null;
}
