/**
 * From what a visitor quotes to their verdicts: a reference leads to its verdict, an address, session or network to the
 * list.
 */
import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { EmptyState } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { siteParam } from '../../frame/instances.ts';
import { addressOf } from '../../url/params.ts';
import { targetOf } from './target.ts';

export default function Find() {
  const { query, route } = useLocation();
  const text = query['q'] ?? '';
  useEffect(() => {
    const target = targetOf(text);
    if (target !== null) route(addressOf(target.path, { ...siteParam(query), ...target.params }), true);
  }, [text]);
  return (
    <Page title="Find" lead="Paste what a visitor quotes into the field above.">
      <EmptyState title={text === '' ? 'What can be found' : 'Nothing has this form'}>
        <ul class="plain-list">
          <li>The reference on a page of the gate: 36 characters, such as 01a20432-74c6-7eac-be38-d521a187cda6</li>
          <li>An address: 192.0.2.1 or 2001:db8::1</li>
          <li>A network: AS64496</li>
          <li>A session: the jti of its cookie</li>
        </ul>
      </EmptyState>
    </Page>
  );
}
