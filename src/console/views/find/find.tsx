/**
 * From what a visitor quotes to what decided: a reference, long or short, leads to its verdict, an address, network or rule to the list,
 * a session to its page. The log has no index of user agents, so this page says what else is known about one.
 */
import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { SHORT_REFERENCE } from '../../../contract/edge/short-reference.ts';
import { EmptyState } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { siteParam } from '../../frame/instances.ts';
import { addressOf } from '../../url/params.ts';
import { cleaned, targetOf } from './target.ts';
import { ShortReference } from './short-reference.tsx';
import { UserAgentFindings } from './user-agent-findings.tsx';

export default function Find() {
  const { query, route } = useLocation();
  const text = cleaned(query['q'] ?? '');
  const isUserAgent = query['kind'] === 'user-agent';
  const isShort = !isUserAgent && SHORT_REFERENCE.test(text);
  const target = isUserAgent || text === '' ? null : targetOf(text);
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
          <li>A session or a captcha: its jti</li>
          <li>A rule: userAgent:badbot</li>
          <li>A user agent, or a part of one</li>
        </ul>
      </EmptyState>
    </Page>
  );
}
