/**
 * From what a visitor quotes to what decided: a reference, long or short, leads to its verdict, an address, network or rule to the list,
 * a session to its page. The log has no index of user agents, so this page says what else is known about one.
 */
import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { SHORT_REFERENCE } from '../../../contract/edge/short-reference.ts';
import { EmptyState, Load, Page } from '../../components/page.tsx';
import { siteParam } from '../../frame/instances.ts';
import { addressOf } from '../../url/params.ts';
import { UserAgentFindings } from './user-agent-findings.tsx';
import { useCall } from '../../api/call.ts';
import { VerdictTable } from '../verdicts/verdict-table.tsx';

export default function Find() {
  const { query, route } = useLocation();
  const text = cleaned(query['q'] ?? '');
  const isUserAgent = query['kind'] === 'user-agent';
  const isShort = !isUserAgent && SHORT_REFERENCE.test(text);
  const target = isUserAgent || text === '' ? null : viewOf(text);
  useEffect(() => {
    if (target !== null) route(addressOf(target.path, { ...siteParam(query), ...target.params }), true);
  }, [text, target === null]);
  if (isShort) return <ShortReference key={text} reference={text} />;
  if (text !== '' && target === null) return <UserAgentFindings key={text} userAgent={text} />;
  return (
    <Page title="Find" lead="Paste what a visitor quotes into the field above.">
      <EmptyState title="What can be found">
        <ul class="plain-list">
          <li>The reference on a page of the gate: 36 characters, such as 01a20432-74c6-7eac-be38-d521a187cda6</li>
          <li>Its short form on the same page: 0432-cda6</li>
          <li>An address: 192.0.2.1 or 2001:db8::1</li>
          <li>A network: AS64496</li>
          <li>A session or a captcha: its id</li>
          <li>A rule: userAgent:badbot</li>
          <li>A user agent, or a part of one</li>
        </ul>
      </EmptyState>
    </Page>
  );
}

/** The requests that a short reference can be of. One leads to its verdict at once, several are listed. */
export function ShortReference({ reference }: { reference: string }) {
  const { route } = useLocation();
  const loaded = useCall('/protect/verdicts/find', { reference });
  const { value } = loaded;
  const [one, ...others] = value?.verdicts ?? [];
  const only = one !== undefined && others.length === 0 && value?.isComplete === true ? one.request_id : null;
  useEffect(() => {
    if (only !== null) route(`/console/verdicts/${only}`, true);
  }, [only]);
  return (
    <Page
      title={`Requests with the reference ${reference}`}
      lead="A short reference is found in the log of the last 49 days. The time and the path tell which request is meant."
    >
      <Load
        of={loaded}
        isEmpty={({ verdicts }) => verdicts.length === 0}
        emptyTitle="No request has this short reference"
        emptyText="Ask for the long one, which has 36 characters."
      >
        {({ verdicts }) => only === null && <VerdictTable verdicts={verdicts} />}
      </Load>
      {value?.isComplete === false && <p>There are more: that minute has too many requests to read all of them.</p>}
    </Page>
  );
}

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

/** The view that shows what was pasted. Whatever has no other form is taken for a user agent, or a part of one: `null`. */
function viewOf(pasted: string): FoundView | null {
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
function cleaned(pasted: string): string {
  return pasted.trim().replaceAll(/^["'`]|["'`]$/g, '');
}

const isAddress = (text: string): boolean => IPV4.test(text) || IPV6.test(text);
