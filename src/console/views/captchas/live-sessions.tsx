/** The last hour of one site, minute by minute, with its most frequent addresses. Asked again every ten seconds. */
import { useCall } from '../../api/call.ts';
import type { RequestOf, ResponseOf } from '../../api/service-api.ts';
import { Chip } from '../../components/values.tsx';
import { Load, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { TimeSeries, ZoomReset } from '../../components/time-series.tsx';
import { count, counted } from '../../format/numbers.ts';
import { addressOf, useParams, useZoom } from '../../url/params.ts';

const EVERY_MS = 10_000;
const MINUTES = 60;
const MINUTE_MS = 60_000;

const series = [{ key: 'captchas', name: 'captchas', colour: '--go', style: 'bars' }] as const;

export function LiveSessions({ body }: { body: RequestOf<'/getlivesessions'> | null }) {
  const loaded = useCall('/getlivesessions', body, { everyMs: EVERY_MS });
  return (
    <Section title="The last hour">
      {body === null && <p class="soft">Choose a site to see its captchas minute by minute.</p>}
      {body !== null && (
        <Load of={loaded}>
          {(value) => (
            <div class="stack">
              <LiveHour points={value.points} />
              <p>
                {counted(
                  value.points.reduce((sum, point) => sum + point.count, 0),
                  'captcha',
                )}{' '}
                from {counted(value.uniqueIps, 'address', 'addresses')}
                {value.isExact ? '.' : ': only the newest were counted, there are more.'}
              </p>
              {value.topIps.length > 0 && <TopAddresses addresses={value.topIps} />}
            </div>
          )}
        </Load>
      )}
    </Section>
  );
}

function TopAddresses({ addresses }: { addresses: ResponseOf<'/getlivesessions'>['topIps'] }) {
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

/** The hour up to the end of this minute. */
function LiveHour({ points }: { points: readonly { timestamp: number; count: number }[] }) {
  const until = (Math.floor(Date.now() / MINUTE_MS) + 1) * MINUTE_MS;
  const zoom = useZoom(until - MINUTES * MINUTE_MS, until);
  return (
    <>
      <TimeSeries
        title="Captchas minute by minute"
        series={series}
        rows={points.map(({ timestamp, count: captchas }) => ({
          timestamp: Math.floor(timestamp / MINUTE_MS) * MINUTE_MS,
          captchas,
        }))}
        since={zoom.since}
        until={zoom.until}
        bucketSeconds={60}
        read={({ captchas }) => `${count(captchas ?? 0)} captchas`}
        onChoose={zoom.choose}
      />
      <ZoomReset zoom={zoom} whole="the whole hour" />
    </>
  );
}
