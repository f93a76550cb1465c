/** One bot with everything that is known of it. */
import { useCall } from '../../api/call.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Facts } from '../../components/facts.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { addressOf, useParams } from '../../url/params.ts';
import { Texts } from './catalogue.tsx';

export function BotDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [params] = useParams();
  const { value, error } = useCall('/protect/bots/get', { id });
  return (
    <Dialog title={value?.name ?? id} onClose={onClose} isWide>
      <RefusalNotice error={error} />
      {value !== null && (
        <Facts
          facts={[
            ['Id', value.id],
            [
              'Its requests',
              <a key="requests" href={addressOf('/console/verdicts', { site: params['site'], bot: value.id })}>
                in the verdict log
              </a>,
            ],
            ['Known from', value.isOwn ? 'your own bots' : 'the catalogue'],
            ['Operator', <Texts key="operator" texts={value.operator === null ? [] : [value.operator]} />],
            ['Comes for', value.behaviours.join(', ')],
            ['User agent has', <Texts key="patterns" texts={value.patterns} />],
            ['Names in robots.txt', <Texts key="tokens" texts={value.tokens} />],
            ['Published lists', <Texts key="ranges" texts={value.ranges} />],
            ['Networks', <Texts key="networks" texts={value.networks} />],
            ['Names of its addresses', <Texts key="dns" texts={value.dns} />],
            ['Signs as', <Texts key="agents" texts={value.agents} />],
            [
              'Without a proof',
              value.isComplete
                ? 'Others who use the name are impostors'
                : 'The name is only claimed: not every request of the bot can be proved',
            ],
          ]}
        />
      )}
    </Dialog>
  );
}
