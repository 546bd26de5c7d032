-- The Redis server of each partition before which everything published has come to the end of its way: MySQL then knows
-- of every admission that server has to have, but for those that nobody had published.
CREATE TABLE redis_server (
  partition_no   TINYINT     NOT NULL,
  replication_id CHAR(40)    NOT NULL COMMENT 'changes with every restart and every promotion',
  proven_at      DATETIME(3) NOT NULL,
  PRIMARY KEY (partition_no)
) ENGINE = InnoDB DEFAULT CHARSET = ascii;
