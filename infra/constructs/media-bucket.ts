/** The private bucket with the bytes of media. Only functions can read it, and objects expire after their URLs. */
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { BucketAccess } from '../../shared/api/endpoint.ts';
import { MEDIA_DAYS } from '../../shared/core/lifetimes.ts';
import type { ServiceFunction } from './function/service-function.ts';

const ACTIONS: Record<BucketAccess, string[]> = {
  PutObject: ['s3:PutObject'],
  GetObject: ['s3:GetObject'],
  ReplaceObject: ['s3:PutObject', 's3:DeleteObject'],
};

export class MediaBucket extends Bucket {
  constructor(scope: Construct, id: string, { retain }: { retain: boolean }) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // One day longer than the URL, so that the object does not expire first. Ids of media begin with a hexadecimal
      // digit. Avatars, whose keys begin with another letter, do not expire.
      lifecycleRules: [...'0123456789abcdef'].map((prefix) => ({
        prefix,
        expiration: Duration.days(MEDIA_DAYS + 1),
      })),
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Its access log would contain the ids of media, which are the secret part of their URLs.',
    });
  }

  /** Allows a function this access to every object. */
  allow(user: ServiceFunction, access: BucketAccess): void {
    user.allow(ACTIONS[access], this.arnForObjects('*'));
    const id = Stack.of(this).resolve(this.bucketArn)['Fn::GetAtt'][0];
    Validations.of(user).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${id}.Arn>/*]`,
      reason: 'Objects get random names when they are created.',
    });
  }
}
