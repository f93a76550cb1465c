/**
 * Orders the files of a run so that its workers end together. Vitest begins with the largest file of a project; here the
 * projects whose files take long come first as well.
 */
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const PROJECTS = ['promises', 'compat', 'browser', 'e2e', 'workerd', 'properties', 'node'];

const place = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
