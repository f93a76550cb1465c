/** One rule over time: in how many requests it fired, and what was decided about them. */
import { useRoute } from 'preact-iso/router';
import { useCall } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Facts, Load, Page, Section, Warning } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { DecisionSeries } from '../../components/time-series.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import { count } from '../../format/numbers.ts';
import { siteOf, siteParam, whenKnown } from '../../frame/instances.ts';
import { addressOf, bucketSecondsOf, useParams, useWindow } from '../../url/params.ts';
import { ruleTypes, type RuleType } from './rule.ts';

export default function OneRule() {
  const { params: route } = useRoute();
  const [params] = useParams();
  const window = useWindow();
  const type = route['type'] as RuleType;
  const value = params['value'] ?? '';
  const { since, until } = window;
  const body: RequestOf<'/protect/access-rules/hits'> = {
    ...siteOf(params),
    type,
    value,
    since,
    until,
    bucket: bucketSecondsOf(window),
  };
  const loaded = useCall('/protect/access-rules/hits', whenKnown(body));
  const { value: hits } = loaded;
  const links = siteParam(params);
  return (
    <Page
      title="Rule"
      lead={
        <>
          {Object.hasOwn(ruleTypes, type) ? ruleTypes[type].name : <VisitorText text={type} />}:{' '}
          <VisitorText text={value} />
        </>
      }
      actions={<RangePicker window={window} />}
    >
      <Load of={loaded} />
      {hits?.isExact === false && (
        <Warning>
          In some hour more rules fired than the log counts one by one, so the real numbers may be higher.
        </Warning>
      )}
      <Section
        title="Requests in which it fired"
        actions={
          <>
            <ButtonLink href={addressOf('/console/rules', { ...links, type, value })}>Find the rule</ButtonLink>
            <ButtonLink href={addressOf('/console/verdicts', { ...links, rule: `${type}:${value}`, range: '7d' })}>
              See the requests
            </ButtonLink>
          </>
        }
      >
        <div class="stack">
          <Facts
            facts={[
              ['Requests', hits === null ? '–' : count(hits.total)],
              ['Allowed', hits === null ? '–' : count(hits.allow)],
              ['Challenged', hits === null ? '–' : count(hits.challenge)],
              ['Blocked', hits === null ? '–' : count(hits.block)],
              ['Last', <Time at={hits?.lastHitAt} />],
            ]}
          />
          <DecisionSeries title="Requests in which the rule fired, by decision" window={window} value={hits} />
        </div>
      </Section>
    </Page>
  );
}
