<?php
namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Queue\InteractsWithQueue;

class Poison implements ShouldQueue
{
    use InteractsWithQueue, Queueable;

    public function handle()
    {
        throw new \RuntimeException('this job fails each time');
    }
}
