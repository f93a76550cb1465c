/** One line in the overview: whether something of the instance needs somebody, and the way there. */
import type { Instance } from '../../frame/instances.ts';
import { addressOf } from '../../url/params.ts';
import { useHealth } from './use-health.ts';

const EVERY_MS = 60_000;

export function HealthLine({ instance, site }: { instance: Instance; site: { site?: string } }) {
  const { worst, findings, jwt, service, edgesFinding } = useHealth(instance, EVERY_MS);
  const href = addressOf('/console/health', site);
  // The line is there from the start, so that nothing moves when the answer arrives.
  if (worst === null) return <a href={href}>Health</a>;
  if (worst === 'fine') return <a href={href}>Nothing needs you</a>;
  const open = (findings ?? []).filter(({ state }) => state !== 'fine').length;
  const things =
    open +
    (jwt?.state === 'act' ? 1 : 0) +
    (edgesFinding?.state === 'fine' ? 0 : 1) +
    (service?.status === 'ok' ? 0 : 1);
  return (
    <a class={`health-line health-${worst}`} href={href}>
      {things === 1 ? '1 thing needs you' : `${things} things need you`}: see the health of this instance
    </a>
  );
}
