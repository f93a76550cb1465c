/** The switch that shows the gate's own calls (`/__protect/*`) beside the requests of visitors, kept in the address. */
import { CheckField } from '../../components/field.tsx';
import { listed } from '../../components/filter-field.ts';
import { useParams } from '../../url/params.ts';
import { showsOwnCalls } from './verdict-filters.ts';

export function OwnCallsSwitch() {
  const [params, change] = useParams();
  const withoutOwn = listed(params['source']).filter((source) => source !== 'internal');
  return (
    <CheckField
      label="Show the gate’s own calls"
      isChecked={showsOwnCalls(params)}
      onChange={(isChecked) =>
        change({
          cursor: null,
          ...(isChecked ? { internal: 'shown' } : { internal: null, source: withoutOwn.join(',') }),
        })
      }
    />
  );
}
