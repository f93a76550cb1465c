/** The last hour of one site, minute by minute, with its most frequent addresses. Asked again every ten seconds. */
import { useCall } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { Chip } from '../../components/chip.tsx';
import { Section } from '../../components/facts.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { count } from '../../format/numbers.ts';
import { localClock } from '../../format/times.ts';
import { addressOf, useParams } from '../../url/params.ts';

const EVERY_MS = 10_000;
const MINUTES = 60;
const MINUTE_MS = 60_000;

export function LiveSessions({ body }: { body: RequestOf<'/getlivesessions'> | null }) {
  const { value, error, reload } = useCall('/getlivesessions', body, { everyMs: EVERY_MS });
  return (
    <Section title="The last hour">
      {body === null && <p class="soft">Choose a site to see its captchas minute by minute.</p>}
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      {body !== null && value !== null && (
        <div class="stack">
          <Minutes points={value.points} />
          <p>
            {count(value.points.reduce((sum, point) => sum + point.count, 0))} captchas from {count(value.uniqueIps)}{' '}
            {value.uniqueIps === 1 ? 'address' : 'addresses'}
            {value.isExact ? '.' : ': only the newest were counted, there are more.'}
          </p>
          {value.topIps.length > 0 && <TopAddresses addresses={value.topIps} />}
        </div>
      )}
    </Section>
  );
}

interface Address {
  ip: string;
  count: number;
  country?: string | null;
  asn?: number | null;
  isVpn?: boolean;
  isProxy?: boolean;
  isDatacenter?: boolean;
}

function TopAddresses({ addresses }: { addresses: readonly Address[] }) {
  const [{ captchaSite }] = useParams();
  return (
    <Table
      caption="Most frequent addresses"
      rows={addresses}
      keyOf={({ ip }) => ip}
      columns={[
        {
          title: 'Address',
          cell: ({ ip }) => (
            <a class="mono" href={addressOf('/console/captchas/search', { captchaSite, ip })}>
              {ip}
            </a>
          ),
        },
        { title: 'Captchas', isNumber: true, cell: (address) => count(address.count) },
        { title: 'Country', cell: ({ country }) => country ?? '–' },
        { title: 'Network', cell: ({ asn }) => (asn === null || asn === undefined ? '–' : `AS${asn}`) },
        {
          title: 'Category',
          isWide: true,
          cell: ({ isVpn, isProxy, isDatacenter }) => (
            <span class="chips">
              {isVpn === true && <Chip>vpn</Chip>}
              {isProxy === true && <Chip>proxy</Chip>}
              {isDatacenter === true && <Chip>datacenter</Chip>}
            </span>
          ),
        },
      ]}
    />
  );
}

/** One bar a minute. The numbers are in the sentence below. */
function Minutes({ points }: { points: readonly { timestamp: number; count: number }[] }) {
  const last = Math.floor(Date.now() / MINUTE_MS);
  const byMinute = new Map(points.map((point) => [Math.floor(point.timestamp / MINUTE_MS), point.count]));
  const max = Math.max(1, ...byMinute.values());
  return (
    <div class="minutes" aria-hidden="true">
      {Array.from({ length: MINUTES }, (_, at) => {
        const minute = last - MINUTES + 1 + at;
        const value = byMinute.get(minute) ?? 0;
        return (
          <i
            key={minute}
            title={`${localClock(minute * MINUTE_MS)}: ${value}`}
            style={{ height: value === 0 ? '1px' : `${Math.max(4, (value / max) * 100)}%` }}
          />
        );
      })}
    </div>
  );
}
