/** What became of one alert in each channel. */
import { Chip } from '../../components/chip.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { counted } from '../../format/numbers.ts';
import type { Alert } from './alert-words.ts';

type Delivery = Alert['deliveries'][number];
const states = { waiting: ['warn', 'waits'], sent: ['allow', 'sent'], 'given-up': ['block', 'given up'] } as const;

export function Deliveries({ deliveries }: { deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0) return <span class="soft">no channel wanted it</span>;
  return (
    <ul class="plain-list">
      {deliveries.map((delivery) => (
        <li key={delivery.channelId}>
          <One delivery={delivery} />
        </li>
      ))}
    </ul>
  );
}

function One({ delivery: { channelName, state, attempts, triedAt, dueAt, error } }: { delivery: Delivery }) {
  const [tone, words] = states[state];
  return (
    <>
      <Chip tone={tone}>{words}</Chip> <VisitorText text={channelName ?? 'a removed channel'} maxChars={60} />
      {state === 'sent' && triedAt !== null && (
        <>
          {' '}
          <Time at={triedAt} isBrief />
        </>
      )}
      {state !== 'sent' && attempts > 0 && `, ${counted(attempts, 'attempt')}`}
      {dueAt !== null && (
        <>
          , next <Time at={dueAt} isBrief />
        </>
      )}
      {error !== null && (
        <>
          {': '}
          <VisitorText text={error} maxChars={200} />
        </>
      )}
    </>
  );
}
