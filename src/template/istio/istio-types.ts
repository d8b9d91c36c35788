import { behaviourOf, pointerTo, sliceOf } from '../go-type.ts';
import type { GoType, InterfaceType } from '../go-type.ts';

/** The types that Istio's functions demand, by Go name; whoever supplies the data describes their fields. */
function named(name: string): GoType {
  return { kind: 'struct', name, fields: [] };
}

export const objectMetaType = named('v1.ObjectMeta');
export const containersType = sliceOf(named('v1.Container'));
export const durationType = pointerTo(named('durationpb.Duration'));
export const meshConfigType = pointerTo(named('v1alpha1.MeshConfig'));

/** Any pointer to a message that can be written as protobuf JSON. */
export const messageType: InterfaceType = {
  kind: 'interface',
  name: 'protoreflect.ProtoMessage',
  accepts: (type) => type.kind === 'pointer' && behaviourOf(type.element).protoToJson !== undefined,
};
