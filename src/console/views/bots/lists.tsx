/** Who counts as a bot: the account's own bots, the catalogue, and the networks that operators publish. */
import { useCall } from '../../api/call.ts';
import { RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { useParams } from '../../url/params.ts';
import { BotDialog } from './bot-dialog.tsx';
import { BotTabs } from './bot-tabs.tsx';
import { Catalogue, catalogueBody } from './catalogue.tsx';
import { OwnBots } from './own-bots.tsx';
import { PublishedLists } from './published-lists.tsx';

export default function BotLists() {
  const [params, change] = useParams();
  const own = useCall('/protect/bots/own', {});
  const published = useCall('/protect/bots/lists', {});
  const body = catalogueBody(params);
  const catalogue = useCall('/protect/bots', body);
  const { bot } = params;
  const reload = () => {
    own.reload();
    catalogue.reload();
  };
  return (
    <Page
      title="Bots"
      lead="Names that count as bots, and what proves them."
      calls={[
        { method: 'POST', path: '/protect/bots/own', body: {} },
        { method: 'POST', path: '/protect/bots/lists', body: {} },
        { method: 'POST', path: '/protect/bots', body },
        ...(bot === undefined ? [] : [{ method: 'POST' as const, path: '/protect/bots/get', body: { id: bot } }]),
      ]}
    >
      <BotTabs />
      {[own, published, catalogue].map(
        (loaded, at) =>
          loaded.error !== null && <RefusalNotice key={at} error={loaded.error} onRetry={loaded.reload} />,
      )}
      <OwnBots bots={own.value?.bots ?? null} onChange={reload} />
      <Catalogue found={catalogue.value} />
      <PublishedLists lists={published.value?.lists ?? null} />
      {bot !== undefined && <BotDialog id={bot} onClose={() => change({ bot: null }, true)} />}
    </Page>
  );
}
