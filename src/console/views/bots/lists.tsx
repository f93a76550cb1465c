/** Who counts as a bot: the account's own bots, the catalogue, and the networks that operators publish. */
import { useCall } from '../../api/call.ts';
import { Load } from '../../components/load.tsx';
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
  const catalogue = useCall('/protect/bots', catalogueBody(params));
  const { bot } = params;
  const reload = () => {
    own.reload();
    catalogue.reload();
  };
  return (
    <Page title="Bots" lead="Names that count as bots, and what proves them.">
      <BotTabs />
      <Load of={own} />
      <Load of={published} />
      <Load of={catalogue} />
      <OwnBots bots={own.value?.bots ?? null} onChange={reload} />
      <Catalogue found={catalogue.value} />
      <PublishedLists lists={published.value?.lists ?? null} />
      {bot !== undefined && <BotDialog id={bot} onClose={() => change({ bot: null }, true)} />}
    </Page>
  );
}
